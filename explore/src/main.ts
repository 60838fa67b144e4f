import "uplot/dist/uPlot.min.css";
import "./generated/variables.css";
import "./style.css";
import { mount } from "svelte";
import App from "./App.svelte";

mount(App, { target: document.getElementById("app")! });
